"""A user in the browser whose actions are counted."""

from support import browser as by


class Walk:
    """What a user does, counted: a click, a field typed, a choice made, each one action."""

    def __init__(self, page):
        self.page = page
        self.actions = []

    def go(self, title):
        self.actions.append(f"go to {title}")
        by.go(self.page, title)

    def press(self, button):
        self.actions.append(f"press {button.inner_text().splitlines()[-1]}")
        with by.answered(self.page):
            button.click()

    def click(self, place, name, modifiers=()):
        """Click what the browser answers by itself."""
        self.actions.append(f"click {name}")
        place.click(modifiers=modifiers)

    def choose(self, name, option):
        self.actions.append(f"choose {name}: {option}")
        by.choose(self.page, self.page.get_by_role("combobox", name=name, exact=True), option)

    def type(self, name, text, role="textbox"):
        self.actions.append(f"type {name}: {text}")
        by.type_in(self.page, self.page.get_by_role(role, name=name, exact=True), text)

    def download(self, label):
        self.actions.append(f"download {label}")
        return by.download(self.page, label)

    def answer(self, question, answer):
        """Answer one of a few choices, or set a checkbox, by its text."""
        self.actions.append(f"set {question}: {answer}")
        with by.answered(self.page):
            self.page.get_by_text(answer, exact=isinstance(answer, str)).first.click()
