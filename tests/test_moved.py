"""Old addresses of names, and old names of arguments, work with a warning that says the new ones."""

import importlib

import pytest

from dsofs.moved import renamed

OLD = {
    "dsofs.evaluation": ("run", "Samples", "Method", "CLEAN", "stability"),
    "dsofs.selection": ("Selection",),
    "dsofs.datasets.labelled": ("read_labelled", "LabelledTable"),
}


@pytest.mark.parametrize(("old", "name"), [(old, name) for old, names in OLD.items() for name in names])
def test_the_old_address_leads_to_the_same_thing(old, name):
    module = importlib.import_module(old)
    with pytest.warns(FutureWarning, match=rf"{old}.{name} has moved .* import it from dsofs\.") as caught:
        found = getattr(module, name)
    home = importlib.import_module(str(caught[0].message).rpartition(" ")[2].rstrip("."))
    assert found is getattr(home, name)
    assert caught[0].filename == __file__


def test_what_was_never_there_is_not_found():
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from dsofs.evaluation import nonsense  # noqa: F401


@renamed(seed="random_state")
def drawn(n, *, random_state=0):
    return n, random_state


def test_an_old_name_of_an_argument_works_with_a_warning():
    assert drawn(2, random_state=5) == (2, 5)
    with pytest.warns(FutureWarning, match="The 'seed' parameter of drawn is now 'random_state'") as caught:
        assert drawn(2, seed=5) == (2, 5)
    assert caught[0].filename == __file__


def test_old_and_new_name_together_are_refused():
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="got both 'seed' and 'random_state'"):
        drawn(2, seed=5, random_state=5)
