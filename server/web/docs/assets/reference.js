// Opens the viewer on this server's own document when an operation is chosen. Nothing is requested from another host, and
// the key that is typed in for trying requests stays in the memory of this page.
const place = document.querySelector('#reference');
const root = place.dataset.root;

const openViewer = () =>
  window.Scalar.createApiReference(place, {
    url: `${root}/docs/openapi.json`,
    // The origin of this page, whatever name it was reached by: requests to another one are not allowed from here.
    servers: [{ url: location.origin + root }],
    authentication: { preferredSecurityScheme: 'apiKey' },
    persistAuth: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    theme: 'default',
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    documentDownloadType: 'none',
    defaultOpenAllTags: true,
  });

/** Loads the viewer, which is large, once somebody wants to see an operation. */
function load() {
  if (!location.hash) return;
  removeEventListener('hashchange', load);
  const script = document.importNode(document.querySelector('#viewer').content, true).firstElementChild;
  script.addEventListener('load', () => {
    document.querySelector('#overview').remove();
    openViewer();
  });
  document.body.append(script);
}
addEventListener('hashchange', load);
load();
