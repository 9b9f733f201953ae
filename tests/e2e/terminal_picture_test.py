"""Pictures of the terminal (tools/dev/terminal_svg.py): every letter stands in its column, in every browser."""
import importlib.util
import xml.dom.minidom

import gantry_test

SPEC = importlib.util.spec_from_file_location("terminal_svg", gantry_test.ROOT / "tools/dev/terminal_svg.py")
terminal_svg = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(terminal_svg)


def elements(picture, name):
    return xml.dom.minidom.parseString(picture).getElementsByTagName(name)


class TerminalPictureTest(gantry_test.TestCase):
    def column(self, element):
        return round((float(element.getAttribute("x")) - terminal_svg.MARGIN) / terminal_svg.CELL_WIDTH, 2)

    def test_stretches_stand_in_their_columns(self):
        picture = terminal_svg.draw(["20 \u2524   x      \x1b[1my & z\x1b[0m", "      start"], 40)
        found = [(text.firstChild.data, self.column(text)) for text in elements(picture, "text")]
        self.assertEqual(found, [("20 \u2524", 0), ("x", 7), ("y & z", 14), ("start", 6)])

    def test_a_progress_bar_is_drawn_without_seams(self):
        picture = terminal_svg.draw(["\u2595\u2588\u2588\u2588\u258c    \u258f  62%"], 40)
        ground, *bar = elements(picture, "rect")
        self.assertEqual([self.column(part) for part in bar], [0.88, 1, 9])
        self.assertEqual(bar[1].getAttribute("width"), f"{3.5 * terminal_svg.CELL_WIDTH:.1f}")
        self.assertEqual([text.firstChild.data for text in elements(picture, "text")], ["62%"])

    def test_no_browser_may_collapse_spaces(self):
        pictures = sorted((gantry_test.ROOT / "docs/images").glob("*.svg"))
        self.assertTrue(pictures)
        for path in pictures:
            picture = path.read_text()
            style = "".join(part.firstChild.data for part in elements(picture, "style"))
            for text in elements(picture, "text"):
                self.assertTrue("white-space:pre" in text.getAttribute("style") or
                                "text{white-space:pre}" in style, f"{path.name}: {text.toxml()}")
