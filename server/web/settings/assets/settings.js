/* Enhancements only: every page works without this file. */

// A new key is the response to a POST: reloading follows the page's link instead of sending the form again.
const onward = document.querySelector(':is([data-secret], [data-onward]) a[href^="/"]');
if (onward) {
  history.replaceState(null, '', onward.href);
  // The browser may keep the page for its back button, but must not keep the key.
  addEventListener('pagehide', () => {
    for (const secret of document.querySelectorAll('[data-secret]')) secret.remove();
  });
}

// Reloading must not repeat the confirmation.
if (document.querySelector('.notice.done')) history.replaceState(null, '', location.pathname);

// A form that was not processed shows again what the same person typed: after signing in again, an error, no response, or
// leaving the page.
const who = document.querySelector('.who, [data-who]')?.textContent;
const whose = document.title.replace('Error: ', '') + who;
const typed = history.state ?? JSON.parse(sessionStorage.getItem('typed'));
const [navigation] = performance.getEntriesByType('navigation');
const isBack = navigation?.type === 'back_forward';
// A rejected form is the response to a POST: going back to it, or reloading, requests the page instead.
const isRejected = 'rejected' in document.body.dataset;
if (document.forms.length > 0 && isRejected)
  history.replaceState(typed && { ...typed, isUnprocessed: true }, '', location.href);
const sent = [...document.forms].find(({ action }) => action === typed?.action);
// An error page has the menu, but not the form. Going back from the browser's own error page can skip the page of the form.
if (who !== undefined && (sent || !(isRejected || isBack))) sessionStorage.removeItem('typed');
else if (typed) sessionStorage.setItem('typed', JSON.stringify({ ...typed, isUnprocessed: true }));
if (typed?.whose === whose && (typed.isUnprocessed || isBack)) {
  for (const [index, one] of fieldsOf(sent).entries())
    if (one.name === typed.fields[index]?.name) Object.assign(one, typed.fields[index]);
  sent?.closest('details')?.setAttribute('open', '');
} else if (!isRejected) history.replaceState(null, '');

/**
 * Without files, and without what no one else may see. With the stored values that the form showed when it was filled in,
 * so that it does not undo what someone else has changed since.
 */
function fieldsOf(form) {
  const secret = '[type=file], [autocomplete$=password], [autocomplete=one-time-code]';
  const fields = ':is(select, input:not([type=hidden]), [name^="shown "])';
  return [...(form?.elements ?? [])].filter((one) => one.matches(`${fields}:not(${secret})`));
}

const typedIn = (form) => ({
  whose,
  action: form.action,
  fields: fieldsOf(form).map(({ name, value, checked }) => ({ name, value, checked })),
});

if (who !== undefined)
  for (const form of document.querySelectorAll('form[method="post"]')) {
    form.addEventListener('change', () => {
      history.replaceState({ ...typedIn(form), isUnprocessed: history.state?.isUnprocessed }, '');
    });
    form.addEventListener('submit', () => {
      history.replaceState(null, '');
      sessionStorage.setItem('typed', JSON.stringify(typedIn(form)));
    });
  }

// Not for downloads, after which the page stays as it is.
for (const form of document.querySelectorAll('form[method="post"]:not([data-download])')) {
  const button = form.querySelector('button[type="submit"]');
  const label = [...(button?.childNodes ?? [])];
  form.addEventListener('submit', () => {
    // Only after the browser has submitted the form, which a disabled button would prevent.
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
  // After going back. No event says that an upload was stopped, but Esc stops it, and any input starts another attempt.
  addEventListener('pageshow', restore);
  addEventListener('keydown', ({ key }) => key === 'Escape' && restore());
  form.addEventListener('input', restore);
}

// A proxy that rejects a body of this size may respond with an empty page.
for (const input of document.querySelectorAll('input[data-too-large]'))
  input.addEventListener('change', () => {
    const isTooLarge = input.files[0]?.size > Number(input.dataset.bytes);
    input.setCustomValidity(isTooLarge ? input.dataset.tooLarge : '');
    input.reportValidity();
  });

// Another site's window may close between the two clicks of a double-click, so that the second one lands on this page.
// Or it makes people hold down Enter, so the button gives up the focus, and does not get it back.
const consent = document.querySelector('button[data-deliberate]');
if (consent) {
  let enabling;
  const pause = () => {
    consent.blur();
    consent.disabled = true;
    clearTimeout(enabling);
    enabling = setTimeout(() => (consent.disabled = false), 1000);
  };
  for (const event of ['pageshow', 'focus']) addEventListener(event, pause);
}

// What screen readers call a button also reacts to the space bar.
for (const link of document.querySelectorAll('a[role="button"]'))
  link.addEventListener('keydown', (event) => {
    if (event.key !== ' ') return;
    event.preventDefault();
    link.click();
  });

for (const button of document.querySelectorAll('button[data-show]')) {
  const input = document.getElementById(button.dataset.show);
  button.hidden = false;
  button.addEventListener('click', () => {
    const shown = input.type === 'text';
    input.type = shown ? 'password' : 'text';
    button.firstChild.textContent = shown ? 'Show' : 'Hide';
    announcement.textContent = shown ? 'The password is hidden.' : 'The password is shown.';
  });
  // Browsers might remember a password that is sent from a text field.
  input.form.addEventListener('submit', () => {
    input.type = 'password';
  });
}

const announcement = document.querySelector('#announcement');
let silencing;

for (const button of document.querySelectorAll('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy);
  const label = [...button.childNodes];
  button.hidden = false;
  button.addEventListener('click', async () => {
    const copied = await copy(source);
    button.textContent = copied ? 'Copied' : 'Now copy it';
    announcement.textContent = copied ? 'Copied to the clipboard.' : 'Selected: now copy it.';
    setTimeout(() => button.replaceChildren(...label), 2500);
    clearTimeout(silencing);
    silencing = setTimeout(() => (announcement.textContent = ''), 2500);
  });
}

// An import or its check has ended, so the page was reloaded: the outcome takes the focus, and screen readers read it.
if (sessionStorage.getItem('ended')) {
  sessionStorage.removeItem('ended');
  const outcome = document.querySelector('.notice.failed, #ended, #import');
  outcome?.setAttribute('tabindex', '-1');
  outcome?.focus();
}

// Shows the progress of what runs on the server; once it ends or reaches the next step, reloads the whole page.
async function follow(pauseMs) {
  const shown = document.querySelector('[data-live]');
  if (!shown) return;
  try {
    const response = await fetch('/settings/imports');
    const latest = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('[data-live]');
    if (latest?.dataset.live !== shown.dataset.live && response.ok) {
      sessionStorage.setItem('ended', 'true');
      return location.replace('/settings/imports');
    }
    if (latest) shown.replaceChildren(...latest.childNodes);
  } catch {
    // The server is briefly unavailable. A proxy in front of it responds with an error page.
  }
  setTimeout(follow, pauseMs, Math.min(2 * pauseMs, 1000));
}
// Small files are done soon.
setTimeout(follow, 250, 250);

async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    // The clipboard needs https and permission. Otherwise the text is selected, to be copied by hand.
    getSelection().selectAllChildren(source);
    return false;
  }
}
