"""The page in a real browser, offline: it shows everything, runs nothing and asks nobody."""

import shutil

import pytest

from dsofs.report import render, render_comparison
from tests.report.examples import HOSTILE, LONG, compared, hostile, ordinary

api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install --group browser)")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's Chromium (apt-get install chromium)")


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as playwright:
        # Inside containers Chromium runs as root, for which its sandbox has to be off.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visit:
    """A page opened from a file without a network, and everything it said, asked for or ran."""

    def __init__(self, browser, path, content, **options):
        path.write_text(content, encoding="utf-8")
        self.context = browser.new_context(offline=True, **options)
        self.page = self.context.new_page()
        self.said, self.asked, self.dialogs = [], [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.goto(path.as_uri())
        self.url = path.as_uri()

    def quiet(self):
        """Nothing said, run or asked for but the page itself and the images that are part of it."""
        outside = [url for url in self.asked if url != self.url and not url.startswith("data:image/png")]
        return (self.said, self.dialogs, outside) == ([], [], [])


@pytest.fixture
def visit(browser, tmp_path):
    visits = []

    def open_page(findings, draw=render, **options):
        visits.append(Visit(browser, tmp_path / "report.html", draw(findings), **options))
        return visits[-1]

    yield open_page
    for each in visits:
        each.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("c", [2, 3, 12])
def test_it_shows_offline_without_errors(visit, scheme, c):
    seen = visit(ordinary(c), color_scheme=scheme)
    assert seen.quiet()
    assert seen.page.locator("h1").is_visible()
    assert seen.page.locator("svg[role=img]").count() > 8
    images = seen.page.locator("svg image").all()
    assert images
    assert all(image.bounding_box()["width"] > 50 for image in images)


def luminance(colour):
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(visit, scheme):
    """WCAG AA asks for 4.5."""
    page = visit(ordinary(), color_scheme=scheme).page
    read = "(e, property) => getComputedStyle(e).getPropertyValue(property)"
    back = luminance(page.locator("body").evaluate(read, "background-color"))
    assert (back > 0.5) == (scheme == "light")
    for selector, part in {"h1": "color", ".kicker": "color", "nav a": "color", "figcaption": "color", "td": "color",
                           "#accuracy text.small": "fill"}.items():  # fmt: skip
        front = luminance(page.locator(selector).first.evaluate(read, part))
        light, dark = max(front, back), min(front, back)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, selector


@pytest.mark.parametrize("width", [360, 1120])
def test_the_page_is_never_wider_than_the_window(visit, width):
    for findings in (ordinary(12), hostile()):
        page = visit(findings, viewport={"width": width, "height": 800}).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_prints(visit):
    seen = visit(ordinary(), color_scheme="dark")
    printed = seen.page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert 2 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") + printed.count(b"/Type /Page/") <= 12
    seen.page.emulate_media(media="print", color_scheme="dark")
    background = seen.page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    assert luminance(background) == 1
    assert not seen.page.locator("nav").is_visible()


def test_hostile_names_run_nothing_and_show_as_they_are(visit):
    seen = visit(hostile())
    assert seen.quiet()
    assert seen.page.locator("script, img, iframe, [onload], [onerror]").count() == 0
    assert seen.page.title().startswith(HOSTILE[0])
    shown = seen.page.locator("bdi").all_text_contents()
    assert set(HOSTILE) <= set(shown)
    long = seen.page.locator("table.features td:nth-child(2) bdi[title]").first
    first, last = long.get_attribute("title").split("…")
    assert LONG.startswith(first)
    assert LONG.endswith(last)
    assert seen.page.locator("#made dd").nth(2).text_content() == HOSTILE[1]  # the command
    assert HOSTILE[2] in seen.page.locator(".remarks").text_content()  # a warning


def test_even_markup_let_through_could_not_run(visit, tmp_path):
    """The policy alone holds: a script put into the finished page is refused."""
    seen = visit(ordinary())
    bad = render(ordinary()).replace("</main>", "<script>alert(1)</script><img src=x onerror=alert(2)></main>")
    path = tmp_path / "bad.html"
    path.write_text(bad, encoding="utf-8")
    seen.page.goto(path.as_uri())
    assert seen.dialogs == []
    refused = [text for text in seen.said if "Content Security Policy" in text]
    assert len(refused) == 3, seen.said  # the script, the image, and the handler of its error


def test_sections_can_be_reached_by_name_and_pictures_have_words(visit):
    page = visit(ordinary()).page
    for link in page.locator("nav a").all():
        target = link.get_attribute("href")
        assert page.locator(f"section{target} h2").text_content() == link.text_content()
    for drawn in page.locator("figure svg").all():
        assert len(drawn.locator("title").first.text_content()) > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1120])
def test_a_comparison_shows_offline_and_hostile_names_run_nothing(visit, scheme, width):
    seen = visit(compared(), render_comparison, color_scheme=scheme, viewport={"width": width, "height": 800})
    assert seen.quiet()
    assert seen.page.locator("h1").is_visible()
    assert seen.page.locator("figure svg[role=img]").count() == 2
    assert seen.page.locator("script, img, iframe, [onload], [onerror]").count() == 0
    assert seen.page.title().startswith(HOSTILE[0])
    assert set(HOSTILE) <= set(seen.page.locator("#classes bdi").all_text_contents())
    assert seen.page.locator("#made dd").nth(2).text_content() == HOSTILE[1]  # the command
    assert HOSTILE[2] in seen.page.locator(".remarks").text_content()  # a note on the data
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_comparison_prints_and_its_sections_can_be_reached(visit):
    page = visit(compared(), render_comparison).page
    assert page.pdf(format="A4").startswith(b"%PDF")
    for link in page.locator("nav a").all():
        assert page.locator(f"section{link.get_attribute('href')} h2").text_content() == link.text_content()
