// Adds a copy button to each code block. The pages work without this file, with everything visible.
for (const figure of document.querySelectorAll('figure.code')) {
  const code = figure.querySelector('code');
  const caption = figure.querySelector('figcaption');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      // The clipboard needs https and permission. Otherwise the text is selected, to be copied by hand.
      getSelection().selectAllChildren(code);
      button.textContent = 'Now copy it';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  caption.append(button);
}

// Turns adjacent blocks with the same example in several languages into tabs; a choice applies to all pages.
const groups = [...document.querySelectorAll('.tabs')];

function choose(language) {
  for (const group of groups) {
    const figures = [...group.querySelectorAll('figure')];
    if (!figures.some((figure) => figure.dataset.language === language)) continue;
    for (const figure of figures) figure.parentElement.hidden = figure.dataset.language !== language;
    for (const tab of group.querySelectorAll('[role=tab]')) {
      const isChosen = tab.dataset.language === language;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
  }
}

function chooseEverywhere(language) {
  choose(language);
  try {
    localStorage.setItem('language', language);
  } catch {
    // The browser blocks storage, so the choice applies to this page only.
  }
}

groups.forEach((group, number) => {
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  const figures = [...group.querySelectorAll('figure')];
  figures.forEach((figure, index) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.id = `tab-${number}-${index}`;
    tab.textContent = figure.querySelector('figcaption').firstChild.textContent.trim();
    tab.dataset.language = figure.dataset.language;
    tab.setAttribute('role', 'tab');
    // A figure with a caption cannot have this role itself.
    const panel = document.createElement('div');
    panel.id = `panel-${number}-${index}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    tab.setAttribute('aria-controls', panel.id);
    figure.replaceWith(panel);
    panel.append(figure);
    tab.addEventListener('click', () => chooseEverywhere(tab.dataset.language));
    list.append(tab);
  });
  list.addEventListener('keydown', (event) => {
    const tabs = [...list.children];
    const index = tabs.indexOf(document.activeElement);
    const next = { ArrowRight: (index + 1) % tabs.length, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const tab = tabs.at(next);
    chooseEverywhere(tab.dataset.language);
    tab.focus();
  });
  group.prepend(list);
});
// Only after every group has its panels.
for (const group of groups) choose(group.querySelector('figure').dataset.language);
try {
  choose(localStorage.getItem('language'));
} catch {}
