"""How many controls a page shows at first look, in a real browser."""

from playwright.sync_api import Page, expect

FIRST_LOOK = {"width": 1440, "height": 900}
MOST_CONTROLS = 20

# A field counts once, with the buttons inside it; a chip counts each; an expander does not count,
# and neither do links to other pages and the marks that explain a word when pointed at.
COUNT_CONTROLS = """() => {
    const fields = [
        'stNumberInput', 'stSelectbox', 'stMultiSelect', 'stFileUploader', 'stTextInput',
        'stTextArea', 'stSlider', 'stDateInput', 'stCheckbox',
    ].map(name => `[data-testid=${name}]`).join(', ');
    const single = 'button, input, textarea, select, [role=button], [role=slider], [role=tab]';
    const apart = [
        '.st-key-frame', '.st-key-tour', '.st-key-calculations', 'summary',
        '[aria-label^=Help]', '[aria-hidden=true]',
        '[data-testid=stElementToolbar]', '.modebar', '[hidden]', fields,
    ].join(', ');
    const seen = [];
    const look = root => {
        for (const field of root.querySelectorAll(fields)) seen.push(field);
        for (const one of root.querySelectorAll(single)) {
            if (!one.closest(apart)) seen.push(one);
        }
        for (const one of root.querySelectorAll('*')) if (one.shadowRoot) look(one.shadowRoot);
    };
    look(document.querySelector('[data-testid=stMain]'));
    const inSight = one => {
        const box = one.getBoundingClientRect();
        return one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
            && box.width > 1 && box.height > 1
            && box.top < innerHeight && box.bottom > 0 && box.left < innerWidth && box.right > 0;
    };
    const label = one => (
        one.querySelector('[data-testid=stWidgetLabel] p')?.innerText
        || one.getAttribute('aria-label') || one.querySelector('input')?.ariaLabel
        || [...one.querySelectorAll('p')].map(part => part.innerText).join(' ')
        || one.innerText || one.title || one.tagName
    ).trim().split('\\n')[0];
    return seen.filter(inSight).map(label);
}"""


def list_controls(page: Page) -> list[str]:
    """What can be pressed, typed or moved without scrolling, navigation and header apart."""
    return page.evaluate(COUNT_CONTROLS)


def check_header(page: Page) -> None:
    """The line at the top is one line with all its controls in sight, at 150 % zoom too."""
    before = page.viewport_size
    for width in (1280, 853):
        page.set_viewport_size({"width": width, "height": 720})
        boxes = page.locator(".st-key-frame button").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).filter(box => box.width > 1)"
            ".map(box => [box.top, box.right])"
        )
        assert len(boxes) >= 4
        assert max(top for top, _ in boxes) - min(top for top, _ in boxes) < 10, (width, boxes)
        assert all(0 < right <= width for _, right in boxes), (width, boxes)
    if before is not None:
        page.set_viewport_size(before)


def measure_height(page: Page) -> int:
    return page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")


def look_first(page: Page) -> tuple[list[str], int]:
    """The controls in sight at 1440 × 900, and how high the page is; it stays that large."""
    page.set_viewport_size(FIRST_LOOK)
    # A placeholder of what the browser still loads is not as high as what it stands for.
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    page.wait_for_function(  # drawn anew for this window
        """() => [...document.querySelectorAll('[data-testid=stMain] .js-plotly-plot')].every(
            chart => Math.abs(chart.clientWidth - chart.querySelector('svg').clientWidth) < 2)"""
    )
    return list_controls(page), measure_height(page)
