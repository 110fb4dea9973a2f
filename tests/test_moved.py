"""Names that have moved are found at their old address, with a warning that says where they are now."""

import importlib

import pytest

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
