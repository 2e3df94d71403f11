// Sends the request of the page to this server. The key is kept in memory only.
const container = document.querySelector('.try');
const form = container.querySelector('form');
const output = container.querySelector('pre');
const { key, path, body } = form.elements;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  const wasFocused = document.activeElement === button;
  button.disabled = true;
  // Screen readers announce a change of what is already shown.
  output.textContent = 'Sending…';
  output.hidden = false;
  const headers = { authorization: `Bearer ${key.value.trim()}`, ...(body && { 'content-type': 'application/json' }) };
  try {
    const url = new URL(container.dataset.root + path.value, location.origin);
    const response = await fetch(url, { method: container.dataset.method, headers, body: body?.value });
    const text = await response.text();
    output.textContent = `${response.status} ${response.statusText}\n\n${pretty(text)}`;
  } catch (error) {
    output.textContent = `The request failed: ${error.message}`;
  }
  button.disabled = false;
  // A disabled button loses the focus in some browsers.
  if (wasFocused && document.activeElement === document.body) button.focus();
});
container.hidden = false;

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
