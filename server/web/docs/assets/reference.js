// A form that sends the request of the page to this server. The key is kept in memory only.
const place = document.querySelector('.try');
const { method, path, body } = place.dataset;

function field(label, control) {
  const wrapper = document.createElement('label');
  wrapper.append(label, control);
  return wrapper;
}

const key = Object.assign(document.createElement('input'), { type: 'password', autocomplete: 'off', required: true });
const address = Object.assign(document.createElement('input'), { value: path, required: true, spellcheck: false });
const content = Object.assign(document.createElement('textarea'), { value: body ?? '', rows: 8, spellcheck: false });
const button = Object.assign(document.createElement('button'), { textContent: `Send ${method} request` });
const answer = Object.assign(document.createElement('pre'), { tabIndex: 0, hidden: true });
answer.setAttribute('role', 'status');
answer.setAttribute('aria-label', 'Response');

const form = document.createElement('form');
form.append(field('API key', key), field('Path', address));
if (body !== undefined) form.append(field('Body', content));
form.append(button);
const heading = Object.assign(document.createElement('h2'), { textContent: 'Try it', id: 'try-it' });
place.append(heading, form, answer);

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  const headers = { authorization: `Bearer ${key.value.trim()}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  try {
    const url = new URL(place.dataset.root + address.value, location.origin);
    const response = await fetch(url, { method, headers, ...(body !== undefined && { body: content.value }) });
    const text = await response.text();
    answer.textContent = `${response.status} ${response.statusText}\n\n${pretty(text)}`;
  } catch (error) {
    answer.textContent = `The request failed: ${error.message}`;
  }
  answer.hidden = false;
  button.disabled = false;
});

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
