"""Walking through pages with the keyboard alone: no mouse, no focus set by a script."""

MOST_STEPS, MOST_TRIES = 300, 5


def tab_to(page, selector):
    """Press Tab until an element has the focus."""
    page.wait_for_selector(selector, state="attached")
    for _ in range(MOST_STEPS):
        if page.evaluate("s => document.activeElement?.matches(s) ?? false", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached with Tab")


def press(page, selector, key="Enter"):
    """Reach an element and press a key on it."""
    tab_to(page, selector)
    page.keyboard.press(key)


def write(page, selector, text):
    """Reach a field and write into it, in place of what it holds."""
    tab_to(page, selector)
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def bring(page, selector, file):
    """Reach a field for files, open its dialogue with the keyboard, and choose a file there."""
    # A key that comes before the next page does is lost with the page that it went to.
    page.wait_for_load_state()
    dialogues = []

    def opened(dialogue):
        dialogues.append(dialogue)

    page.on("filechooser", opened)
    for _ in range(MOST_TRIES):
        # The browser asks the driver for the file only once it knows that somebody listens.
        tab_to(page, selector)
        page.keyboard.press("Space")
        for _ in range(20):
            page.wait_for_timeout(100)
            if dialogues:
                page.remove_listener("filechooser", opened)
                return dialogues[0].set_files(file)
    raise AssertionError(f"{selector} opens no dialogue for files")


def choose(page, selector, text):
    """Reach a list and choose an entry by its first letters."""
    tab_to(page, selector)
    page.keyboard.type(text)
    page.keyboard.press("Tab")
