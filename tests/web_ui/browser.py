"""A headless Chromium, driven through its own WebDriver. Every call waits for what it needs."""

import base64
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

T = TypeVar("T")

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DRIVER = "chromedriver"
PATIENCE = 60  # seconds; a page of this server takes one or two
SIZE = (1280, 1000)
WIDEST_PICTURE = 840  # pixels; a page of documentation is no wider

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--lang=en-US",
    # Nothing but the page itself goes through the network.
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# The middle of an element, in the coordinates of the window, also from within a frame.
MIDDLE = """
const box = arguments[0].getBoundingClientRect();
const frame = window.frameElement?.getBoundingClientRect() ?? {left: 0, top: 0};
return [frame.left + box.left + box.width / 2, frame.top + box.top + box.height / 2];
"""


def installed() -> tuple[str, str] | None:
    """The paths of Chromium and of its driver, or None where one of them is missing."""
    browser = next(filter(None, map(shutil.which, CHROMIUM)), None)
    driver = shutil.which(DRIVER)
    return (browser, driver) if browser and driver else None


@contextmanager
def chromium(browser: str, driver: str, profile: Path) -> Iterator["Browser"]:
    """A browser with an empty profile. With both paths given, Selenium looks for nothing."""
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={SIZE[0]},{SIZE[1]}"):
        options.add_argument(flag)
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        running.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "UTC"})
        yield Browser(running)
    finally:
        running.quit()


class Browser:
    """One window."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        self.driver.get(url)

    def until(self, what: str, holds: Callable[[], T]) -> T:
        """The first true answer of `holds`; an AssertionError with the page's text if none comes.

        While a page redraws itself, what was found a moment ago may be gone, hidden or covered, and
        the driver has many names for that.
        """
        wait = WebDriverWait(self.driver, PATIENCE, 0.1, ignored_exceptions=[WebDriverException])
        try:
            return wait.until(lambda _: holds())
        except TimeoutException:
            text = self.driver.find_element(By.TAG_NAME, "body").text
            raise AssertionError(f"not within {PATIENCE} s: {what}\n{text}") from None

    def all_shown(self, css: str) -> list[WebElement]:
        """The page holds most things twice, for wide and for narrow windows."""
        found = self.driver.find_elements(By.CSS_SELECTOR, css)
        return [one for one in found if one.is_displayed()]

    def shown(self, css: str, text: str = "") -> WebElement:
        """The first element that can be seen and has `text` in it."""
        return self.until(f"{css} {text!r} is shown", lambda: self._first(css, text))

    def _first(self, css: str, text: str) -> WebElement | None:
        return next((one for one in self.all_shown(css) if text in one.text), None)

    def click(self, css: str, text: str = "") -> None:
        def clicked() -> bool:
            element = self._first(css, text)
            if element:
                self.bring(element)
                element.click()
            return element is not None

        self.until(f"{css} {text!r} can be clicked", clicked)

    def bring(self, element: WebElement) -> None:
        """Scrolls it to the middle: at the edge it may be under what does not scroll."""
        how = "{block: 'center', behavior: 'instant'}"
        self.driver.execute_script(f"arguments[0].scrollIntoView({how})", element)

    def click_thrice(self, element: WebElement) -> None:
        """As one selects a paragraph. WebDriver's own clicks miss in a frame that has scrolled."""
        self.bring(element)
        x, y = self.driver.execute_script(MIDDLE, element)
        for count in (1, 2, 3):
            self._mouse("mousePressed", x, y, count)
            self._mouse("mouseReleased", x, y, count)

    def draw_over(self, left: float, top: float, right: float, bottom: float) -> None:
        """Selects from one point to the other, with the button held down."""
        self._mouse("mousePressed", left, top)
        self._mouse("mouseMoved", right, bottom)
        self._mouse("mouseReleased", right, bottom)

    def _mouse(self, kind: str, x: float, y: float, count: int = 1) -> None:
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": count, "buttons": 1}
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def selection(self) -> str:
        return self.driver.execute_script("return getSelection().toString()").strip()

    def press(self, *keys: str) -> None:
        """All at once: `Keys.CONTROL, "c"`."""
        together = ActionChains(self.driver)
        for key in keys:
            together.key_down(key)
        for key in reversed(keys):
            together.key_up(key)
        together.perform()

    def write(self, text: str) -> None:
        """Types where the cursor is."""
        self.driver.execute_cdp_cmd("Input.insertText", {"text": text})

    @contextmanager
    def frame(self, css: str) -> Iterator[None]:
        """Inside, elements are those of the frame."""
        self.driver.switch_to.frame(self.shown(css))
        try:
            yield
        finally:
            self.driver.switch_to.default_content()

    @contextmanager
    def height(self, pixels: int) -> Iterator[None]:
        """A window so high that nothing is below the fold."""
        self.driver.set_window_size(SIZE[0], pixels)
        try:
            yield
        finally:
            self.driver.set_window_size(*SIZE)

    def picture(self, path: Path, *parts: WebElement) -> None:
        """What can be seen of the page, cut down to the parts and a margin."""
        boxes, margin = [part.rect for part in parts], 16
        left, top = (max(min(box[at] for box in boxes) - margin, 0) for at in ("x", "y"))
        right = max(box["x"] + box["width"] for box in boxes) + margin
        bottom = max(box["y"] + box["height"] for box in boxes) + margin
        scale = min(1, WIDEST_PICTURE / (right - left))
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": scale}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})
        path.write_bytes(base64.b64decode(shot["data"]))
