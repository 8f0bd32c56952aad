"""Faults planted in a page, one at a time, each of which scripts/browser-check must find; and the page without them, which is good.

python3 Tests/System/BrowserTests/test_browser_check.py
"""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOOD = pathlib.Path(__file__).with_name("good.html").read_text()
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("browser_check", str(ROOT / "scripts" / "browser-check"))
browser_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("browser_check", loader))
loader.exec_module(browser_check)


class BrowserCheckTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.browser = browser_check.Browser()
        except browser_check.Missing as error:
            raise unittest.SkipTest(str(error))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def found(self, old="", new="", words=(), scheme="light"):
        """Returns what is found in the good page after `old` in it has become `new`."""
        self.assertIn(old, GOOD)
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            page.write_text(GOOD.replace(old, new, 1))
            options = browser_check.read_options([*words, str(page)])
            return browser_check.check(self.browser, str(page), (360, 780), scheme, options)

    def assert_fault(self, found, words):
        self.assertEqual(len(found["faults"]), 1, found["faults"])
        self.assertIn(words, found["faults"][0])

    def test_a_good_page_has_no_fault_and_is_looked_at(self):
        for scheme in ("light", "dark"):
            found = self.found(scheme=scheme)
            self.assertEqual(found["faults"], [])
            figures = found["figures"]
            self.assertEqual((figures["widths"], figures["pictures"], figures["unmeasured"]), (2, 1, 0))
            self.assertGreaterEqual(figures["contrasts"], 4)

    def test_a_text_of_another_width_is_found_in_html_and_svg(self):
        self.assert_fault(self.found('<span data-width="96.3">', '<span data-width="100">'), "data-width")
        self.assert_fault(self.found('fill="#f2f2f7" data-width="96.3"', 'fill="#f2f2f7" data-width="93"'), "data-width")
        self.assert_fault(self.found('data-width="96.3"', 'data-width="wide"'), "expected a number")

    def test_a_page_wider_than_a_phone_is_found(self):
        self.assert_fault(self.found("<h1>", '<div style="width: 500px">wide</div><h1>'), "sideways by")

    def test_a_picture_or_control_without_a_name_is_found(self):
        self.assert_fault(self.found('aria-label="Northspire one, Kestrel Bay nil"', ""), "no accessible name")
        self.assert_fault(self.found('<label for="place">Place</label>', ""), "no accessible name")

    def test_low_contrast_is_found_in_html_and_svg(self):
        self.assert_fault(self.found("<p>", '<p style="color: #949494; background: #fff">pale</p><p>'), "contrast")
        self.assert_fault(self.found('fill="#f2f2f7"', 'fill="#555560"'), "contrast")
        self.assert_fault(self.found('fill="#f2f2f7"', 'fill="#f2f2f7" opacity="0.3"'), "contrast")

    def test_an_error_of_a_script_is_found(self):
        self.assert_fault(self.found("</html>", "<script>nothing.there()</script></html>"), "console: ")

    def test_a_page_that_needs_the_network_is_found(self):
        found = self.found("<h1>", '<link rel="stylesheet" href="https://example.com/style.css"><h1>')
        self.assert_fault(found, "ERR_NAME_NOT_RESOLVED")

    def test_a_script_of_the_caller_runs_and_returns(self):
        self.assertEqual(self.found(words=["--do", "return document.title"])["told"], "A page without a fault")
        self.assert_fault(self.found(words=["--do", "throw new Error('planted')"]), "planted")

    def test_nothing_remains_of_a_closed_browser(self):
        browser = browser_check.Browser()
        group, profile = browser.driver.pid, browser.profile
        browser.close()
        alive = subprocess.run(["ps", "-o", "pid=", "-g", str(group)], capture_output=True, text=True).stdout.split()
        self.assertEqual((alive, pathlib.Path(profile).exists()), ([], False))


if __name__ == "__main__":
    unittest.main()
