"""The page of a story, used as people use it: by keys, by mouse, by a screen reader, and on paper.

python3 Tests/System/BrowserTests/test_story_page.py
"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("browser_check", str(ROOT / "scripts" / "browser-check"))
browser_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("browser_check", loader))
loader.exec_module(browser_check)

# Keys as WebDriver names them.
LEFT, RIGHT, HOME, END, TAB = "\ue012", "\ue014", "\ue011", "\ue010", "\ue004"


class StoryPageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.browser = browser_check.Browser()
        except browser_check.Missing as error:
            raise unittest.SkipTest(str(error))

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, example):
        self.browser.shape(820, 1180, "light")
        self.browser.open(ROOT / "Examples" / example / "story.html")
        # A click on the pictures chooses them.
        self.value('document.getElementById("stage").focus()')

    def press(self, *keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.browser.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def value(self, script):
        return self.browser.run(f"return {script}")

    @property
    def shown(self):
        return int(self.value('document.getElementById("place").value'))

    def wait_for(self, script):
        end = time.monotonic() + 10
        while not self.value(script):
            self.assertLess(time.monotonic(), end, script)
            time.sleep(0.02)

    def test_keys_go_from_update_to_update(self):
        self.open("Goal")
        last = int(self.value('document.getElementById("place").max'))
        self.assertEqual(self.shown, 0)
        self.press(RIGHT, RIGHT, LEFT)
        self.assertEqual(self.shown, 1)
        self.press(END, RIGHT)
        self.assertEqual(self.shown, last)
        self.press(HOME, LEFT)
        self.assertEqual(self.shown, 0)
        # The kick-off alerts, and then the goal.
        self.press("a", "a")
        self.assertIn("Goal!", self.value('document.querySelector("#frame .alert").textContent'))
        self.assertEqual(self.browser.console_errors(), [])

    def test_the_range_is_first_and_takes_keys_of_its_own(self):
        self.open("Goal")
        self.press(TAB, RIGHT, RIGHT)
        self.assertEqual(self.value("document.activeElement.id"), "place")
        self.assertEqual(self.shown, 2)
        self.assertRegex(self.value('document.activeElement.getAttribute("aria-valuetext")'), r"^3 of \d+, 14:00:11, kickOff$")

    def test_keys_elsewhere_are_the_browser_s(self):
        self.open("Goal")
        self.value('document.activeElement.blur()')
        self.press("a", END, " ", RIGHT)
        self.assertEqual(self.shown, 0)
        self.value('document.querySelector("#updates a").focus()')
        self.press("a", END, RIGHT)
        self.assertEqual(self.shown, 0)

    def test_the_range_plays_with_the_space_bar(self):
        self.open("Goal")
        self.press(TAB, " ")
        self.assertEqual(self.value('document.getElementById("play").textContent'), "Pause")

    def test_estimates_stand_below_their_picture(self):
        self.open("Goal")
        captions = self.value('[...document.querySelectorAll("#places figcaption")].map((caption) => caption.innerText)')
        self.assertEqual(captions[0].split("\n"), ["compact", "Estimates: shape of the camera"])
        self.assertEqual(captions[1].split("\n"), ["expanded", "Estimates: margins inside, shape of the camera"])
        self.assertIn("Estimates: corner radius", captions[2])

    def test_it_plays_and_pauses(self):
        self.open("Goal")
        self.press(" ")
        self.assertEqual(self.value('document.getElementById("play").textContent'), "Pause")
        self.wait_for('Number(document.getElementById("place").value) > 0')
        self.press(" ")
        self.assertEqual(self.value('document.getElementById("play").textContent'), "Play")

    def test_a_screen_reader_hears_where_the_reader_stops(self):
        self.open("Goal")
        self.press("a", "a")
        self.wait_for('document.getElementById("spoken").textContent.includes("Northspire City one, Kestrel Bay United nil")')
        self.assertEqual(self.value('document.querySelectorAll("[aria-current]").length'), 1)
        self.assertEqual(self.value('document.querySelector("#places svg").getAttribute("role")'), "img")

    def test_the_list_leads_to_each_update(self):
        self.open("Ride")
        self.value('document.querySelectorAll("#updates a")[4].click()')
        self.assertEqual(self.shown, 4)
        self.assertIn("onTrip", self.value('document.querySelector("#frame h2").textContent'))

    def test_a_ride_without_a_driver_is_lower(self):
        self.open("Ride")
        height = 'Number(document.querySelector("#places svg[data-place^=Lock]").getAttribute("height"))'
        without = self.value(height)
        self.press(RIGHT)
        self.assertLess(without, self.value(height))

    def test_a_card_that_is_dismissed_with_its_end_is_nowhere(self):
        self.open("Queue")
        self.press(END)
        self.assertEqual(self.value('document.querySelectorAll("#places svg").length'), 0)
        self.assertIn("goes at once", self.value('document.querySelector("#frame .end").textContent'))
        self.press(LEFT)
        self.assertEqual(self.value('document.querySelectorAll("#places svg").length'), 3)

    def test_a_small_phone_shows_all_pictures_above_the_controls(self):
        self.browser.shape(360, 640, "light")
        self.browser.open(ROOT / "Examples" / "Goal" / "story.html")
        hidden = """[...document.querySelectorAll("#places svg")].filter((picture) => {
            const box = picture.getBoundingClientRect();
            return box.top < 0 || box.bottom > document.getElementById("controls").getBoundingClientRect().top;
        }).map((picture) => picture.dataset.place)"""
        self.assertEqual(self.value(hidden), [], "before anybody scrolls")
        # The highest cards, with the words of their update.
        for update in range(int(self.value('document.getElementById("place").max'))):
            self.value(f"""(() => {{ const place = document.getElementById("place"); place.value = {update};
                place.dispatchEvent(new Event("input")); document.getElementById("frame").scrollIntoView(); }})()""")
            self.assertEqual(self.value(hidden), [], f"update {update + 1}")

    def test_on_paper_each_update_has_its_pictures(self):
        self.open("Ride")
        strips = 'document.querySelectorAll("#updates > li > .strip svg").length'
        self.value('dispatchEvent(new Event("beforeprint"))')
        # Seven updates and the moment at which the card goes stale in three places, the last update on the Lock Screen only, and so
        # is the frame in which the card goes.
        self.assertEqual(self.value(strips), 8 * 3 - 2 + 1)
        self.value('dispatchEvent(new Event("afterprint"))')
        self.assertEqual(self.value(strips), 0)
        self.assertGreater(len(self.browser.pdf()), 20_000)


if __name__ == "__main__":
    unittest.main()
