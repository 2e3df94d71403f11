/* Enhancements only: every page works without this file. */

// A new key is the response to a POST: reloading requests the page instead of sending the form again.
if (document.querySelector('[data-secret]')) {
  history.replaceState(null, '', location.pathname);
  // The browser may keep the page for its back button: without the key.
  addEventListener('pagehide', () => {
    for (const secret of document.querySelectorAll('[data-secret]')) secret.remove();
  });
}

// After a download the page stays as it is.
for (const form of document.querySelectorAll('form[method="post"]:not([data-download])')) {
  const button = form.querySelector('button[type="submit"]');
  const label = [...(button?.childNodes ?? [])];
  form.addEventListener('submit', () => {
    // After the browser has taken the form, which a disabled button would have stopped.
    setTimeout(() => {
      button.disabled = true;
      if (form.dataset.busy) button.textContent = form.dataset.busy;
    });
  });
  const restore = () => {
    if (!button?.disabled) return;
    button.disabled = false;
    button.replaceChildren(...label);
  };
  // After going back. Nothing tells that an upload was stopped, but Esc stops it, and so does a next attempt.
  addEventListener('pageshow', restore);
  addEventListener('keydown', ({ key }) => key === 'Escape' && restore());
  form.addEventListener('input', restore);
}

for (const button of document.querySelectorAll('button[data-show]')) {
  const input = document.getElementById(button.dataset.show);
  button.hidden = false;
  button.addEventListener('click', () => {
    const shown = input.type === 'text';
    input.type = shown ? 'password' : 'text';
    button.setAttribute('aria-pressed', String(!shown));
    button.firstChild.textContent = shown ? 'Show' : 'Hide';
  });
  // A password that is sent as text might be remembered as one.
  input.form.addEventListener('submit', () => {
    input.type = 'password';
  });
}

const announcement = document.querySelector('#announcement');

for (const button of document.querySelectorAll('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy);
  const label = [...button.childNodes];
  button.hidden = false;
  button.addEventListener('click', async () => {
    const copied = await copy(source);
    button.textContent = copied ? 'Copied' : 'Now copy it';
    announcement.textContent = copied ? 'Copied to the clipboard.' : 'Selected: now copy it.';
    setTimeout(() => {
      button.replaceChildren(...label);
      announcement.textContent = '';
    }, 2500);
  });
}

// What runs on the server is shown as it is there; once it has ended, the whole page is another one.
async function follow() {
  const shown = document.querySelector('[data-live]');
  if (!shown) return;
  try {
    const response = await fetch('/settings/imports');
    const latest = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('[data-live]');
    if (!latest) return location.replace('/settings/imports');
    shown.replaceChildren(...latest.childNodes);
  } catch {
    // The server is away for a moment.
  }
  setTimeout(follow, 1000);
}
setTimeout(follow, 1000);

async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    // No clipboard without https, or none allowed: the text is selected, to be copied by hand.
    getSelection().selectAllChildren(source);
    return false;
  }
}
