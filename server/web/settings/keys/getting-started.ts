/** The first request, ready to be pasted: with the new key while that is shown, with a placeholder otherwise. */
import { readVersion } from '../../../files.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { copyButton, foldable } from '../sections.ts';

const placeholder = 'YOUR_API_KEY';

export function gettingStarted({ baseUrl, raw }: { baseUrl: string; raw: string | undefined }): Html {
  const key = raw ?? placeholder;
  const content = html`<div ${raw !== undefined && html` data-secret`}>
    <p>
      ${raw === undefined ? html`Replace <code>${placeholder}</code> with one of your keys.` : 'Your new key is filled in while it is shown.'}
      <a href="/docs">Read the documentation</a> for every operation, or import
      <a href="/openapi.json">the OpenAPI document</a> into your tool. Agents and tools that support OAuth
      <a href="/docs/agents#connect-without-copying-a-key">connect without copying a key</a>.
    </p>
    ${snippet('base', 'Base URL', `${baseUrl}/v1`)}
    ${snippet('curl', 'From a shell', `curl -H "Authorization: Bearer ${key}" \\\n  "${baseUrl}/v1/customers"`)}
    ${snippet('install', 'Install the TypeScript client', `npm install ${baseUrl}/client-${readVersion()}.tgz`)}
    ${snippet('client', 'With the TypeScript client', clientLines(baseUrl, key))}
  </div>`;
  return foldable('start', 'Getting started', content, raw !== undefined);
}

const clientLines = (baseUrl: string, key: string): string => `import { createClient } from '@proposal-api/client';

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
      ${copyButton(id, title.toLowerCase(), 'secondary outline')}
    </div>`;
