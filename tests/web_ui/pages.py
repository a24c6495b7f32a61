"""The pages of Temporal's Web UI that an operator uses, by what one does there."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.web_ui.browser import Browser

LIST = "main table"
DETAILS = "iframe#user-metadata-current-details"
ACTIONS = 'button[aria-controls="workflow-actions"]'
ASK_AGAIN = 3  # seconds; who asks more often has all connections of the browser waiting
FORM = '[data-testid="signal-confirmation-modal"]'
EDITOR = '.cm-content[contenteditable="true"]'

# Where a text stands in the editor, as the points between which a mouse is drawn over it.
PLACE = """
const walk = document.createTreeWalker(arguments[0], NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const at = walk.currentNode.data.indexOf(arguments[1]);
  if (at < 0) continue;
  const range = document.createRange();
  range.setStart(walk.currentNode, at);
  range.setEnd(walk.currentNode, at + arguments[1].length);
  const boxes = [...range.getClientRects()], last = boxes[boxes.length - 1];
  const middle = (box) => Math.round(box.top + box.height / 2);
  return [Math.round(boxes[0].left), middle(boxes[0]), Math.round(last.right), middle(last)];
}
return null;
"""

SENT = """
return performance.getEntriesByType("resource").some(
  (one) => one.name.includes("/signal/") && one.responseStatus === 200);
"""


def testid(name: str) -> str:
    return f'[data-testid="{name}"]'


class StepList:
    """The list of workflows, filtered by the link that was opened."""

    def __init__(self, browser: Browser, link: str) -> None:
        self._browser = browser
        browser.open(link)
        browser.shown(f"{LIST} a")

    def set_columns(self, *, hide: tuple[str, ...], show: tuple[str, ...]) -> None:
        """What Configure Columns is for; the browser remembers it."""
        self._browser.click(testid("workflows-summary-table-configuration-button"))
        for name in hide:
            self._browser.click(testid(f"orderable-list-item-{name}-remove-button"))
        for name in show:
            self._browser.click(testid(f"orderable-list-item-{name}-add-button"))
        self._browser.click(testid("drawer-close-button"))
        self._browser.until(
            f"{show} are the columns at the end",
            lambda: tuple(self._headings()[-len(show) :]) == show,
        )

    def _headings(self) -> list[str]:
        return [one.text for one in self._browser.all_shown(f"{LIST} th")]

    def rows(self) -> list[dict[str, str]]:
        """What stands in each row, by its column's heading."""
        return self._browser.until("the list has rows", self._rows)

    def _rows(self) -> list[dict[str, str]]:
        headings = self._headings()
        rows = self._browser.all_shown(f"{LIST} tbody tr")
        cells = [[one.text for one in row.find_elements(By.TAG_NAME, "td")] for row in rows]
        return [dict(zip(headings, row, strict=False)) for row in cells]

    def picture(self, path: Path) -> None:
        with self._browser.height(640):
            self._browser.picture(path, self._browser.shown("main h1"), self._browser.shown(LIST))

    def choose(self, step_id: str) -> "StepPage":
        self._browser.click(f"{LIST} a", step_id)
        self._browser.shown(testid("workflow-id-heading"), step_id)
        return StepPage(self._browser)


class StepPage:
    """One step. It opens with its timeline."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def timeline(self, *labels: str) -> None:
        """Waits for the labels, however far down they are."""
        with self._browser.height(2000):
            for label in labels:
                self._browser.shown("main button span", label)

    def open_details(self) -> None:
        self._browser.click(testid("user-metadata-tab"))
        self._browser.shown(DETAILS)

    def details(self, *, until: Callable[[str], object] = bool) -> str:
        """The words of the current details, asked for anew until they are as they should be."""
        asked = 0.0

        def words() -> str | None:
            nonlocal asked
            if time.monotonic() > asked + ASK_AGAIN:
                self._browser.press("r")
                asked = time.monotonic()
            with self._browser.frame(DETAILS):
                text = self._browser.driver.find_element(By.TAG_NAME, "body").text
            return text if until(text) else None

        return self._browser.until("the details are as they should be", words)

    def blocks(self) -> dict[str, dict[str, Any]]:
        """The blocks to paste, by their verdict."""

        def texts() -> list[str]:
            with self._browser.frame(DETAILS):
                return [one.text for one in self._browser.all_shown("pre")]

        blocks = self._browser.until("there are blocks", texts)
        decisions = [json.loads(text) for text in blocks if text.startswith("{")]
        return {one["verdict"]: one for one in decisions}

    def copy_block(self, verdict: str) -> str:
        """Three clicks select the block, and nothing else; Ctrl+C copies it."""

        def copied() -> str | None:
            with self._browser.frame(DETAILS):
                block = self._browser.shown("pre", f'"verdict": "{verdict}"')
                words = block.text
                self._browser.click_thrice(block)
                if self._browser.selection() != words:
                    return None
                self._browser.press(Keys.CONTROL, "c")
                return words

        return self._browser.until(f"the block for {verdict} is copied", copied)

    def picture(self, path: Path) -> None:
        with self._browser.height(2000):
            heading, tabs, actions, details = (
                self._browser.shown(css)
                for css in (testid("workflow-id-heading"), testid("timeline-tab"), ACTIONS, DETAILS)
            )
            self._browser.picture(path, heading, tabs, actions, details)

    def signal_form(self) -> "SignalForm":
        return SignalForm(self._browser)


class SignalForm:
    """More Actions → Send a Signal."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        browser.click(ACTIONS)
        browser.click(testid("signal-button"))
        self._form = browser.shown(FORM)

    def choices(self) -> list[str]:
        """The list of signals, each with its description in the next line."""
        self._browser.click(f"{FORM} {testid('signal-select-button')}")
        self._browser.shown(f"{FORM} [role=option]", "decide\n")
        return [one.text for one in self._browser.all_shown(f"{FORM} [role=option]")]

    def choose(self, name: str) -> None:
        self._browser.click(f"{FORM} {testid('signal-select-button')}")
        self._browser.click(f"{FORM} [role=option]", f"{name}\n")

    def paste(self, copied: str) -> None:
        """Ctrl+V brings what was copied."""
        self._fill(copied, lambda: self._browser.press(Keys.CONTROL, "v"))

    def write(self, text: str) -> None:
        self._fill(text, lambda: self._browser.write(text))

    def _fill(self, text: str, how: Callable[[], None]) -> None:
        """In place of what is there: the form still holds what was sent before."""

        def filled() -> bool:
            self._editor().click()
            self._browser.press(Keys.CONTROL, "a")
            how()
            return self._editor().text.strip() == text

        self._browser.until(f"the form holds {text!r}", filled)

    def overwrite(self, words: str, by: str) -> None:
        """Draws the mouse over the words and types."""

        def drawn_over() -> bool:
            place = self._browser.driver.execute_script(PLACE, self._editor(), words)
            if place:
                self._browser.draw_over(*place)
            return self._browser.selection() == words

        self._browser.until(f"{words!r} is selected in the form", drawn_over)
        self._browser.write(by)

    def picture(self, path: Path) -> None:
        self._browser.picture(path, self._form, self._form)

    def cancel(self) -> None:
        self._browser.click(f"{FORM} {testid('cancel-modal-button')}")
        self._browser.until("the form is closed", self._closed)

    def submit(self) -> None:
        """Leaves the editor first, by the Tab key: it lays out the JSON, and the button moves."""
        self._browser.press(Keys.TAB)
        self._browser.until("the JSON is laid out", self._laid_out)
        self._browser.driver.execute_script("performance.clearResourceTimings()")
        self._browser.until("the server has taken the signal", self._taken)
        if not self._closed():  # now and then it stays, and waits for nothing
            self._browser.driver.refresh()

    def _taken(self) -> bool:
        if self._browser.driver.execute_script(SENT):
            return True
        button = self._form.find_element(By.CSS_SELECTOR, testid("confirm-modal-button"))
        if button.is_enabled():
            button.click()
        return False

    def _laid_out(self) -> bool:
        lines = json.dumps(json.loads(self._editor().text), indent=2).splitlines()
        return self._editor().text.split() == " ".join(lines).split()

    def _closed(self) -> bool:
        return not self._browser.all_shown(FORM)

    def _editor(self) -> WebElement:
        return self._form.find_element(By.CSS_SELECTOR, EDITOR)
