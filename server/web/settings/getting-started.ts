/** The first request, ready to be pasted: with the new key in it while that is shown, with a gap for it otherwise. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';

const gap = 'YOUR_API_KEY';

export function gettingStarted({ baseUrl, raw }: { baseUrl: string; raw: string | undefined }): Html {
  const key = raw ?? gap;
  return html` <section aria-labelledby="start" ${raw !== undefined && html` data-secret`}>
    <h2 id="start">Getting started</h2>
    <p>
      ${raw === undefined ? html`Put one of your keys where <code>${gap}</code> stands.` : 'Your new key is filled in, for as long as it is shown.'}
      <a href="/docs">Read the documentation</a> for every operation, or import
      <a href="/openapi.json">the OpenAPI document</a> into your tool.
    </p>
    ${snippet('base', 'Base address', `${baseUrl}/v1`)}
    ${snippet('curl', 'From a shell', `curl -H "Authorization: Bearer ${key}" \\\n  "${baseUrl}/v1/customers"`)}
    ${snippet('client', 'With the TypeScript client', clientLines(baseUrl, key))}
  </section>`;
}

const clientLines = (baseUrl: string, key: string): string => `import { createClient } from 'proposal-api-client';

const client = createClient({
  baseUrl: '${baseUrl}',
  apiKey: '${key}',
});
for await (const customer of client.customers.list()) {
  console.log(customer.name);
}`;

const snippet = (id: string, title: string, text: string): Html =>
  html` <h3 id="${id}-title">${title}</h3>
    <div class="copyable">
      <pre role="group" aria-labelledby="${id}-title" tabindex="0"><code id="${id}" translate="no">${text}</code></pre>
      <button type="button" class="secondary outline" data-copy="${id}" hidden>
        Copy<span class="unseen"> ${title.toLowerCase()}</span>
      </button>
    </div>`;
