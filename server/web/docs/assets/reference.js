// Starts the viewer on this server's own document. Nothing is asked of another host, and the key that is typed in for
// trying requests stays in the memory of this page.
const place = document.querySelector('#reference');
const root = place.dataset.root;

window.Scalar.createApiReference(place, {
  url: `${root}/docs/openapi.json`,
  // The address of this page, whatever name it was reached by: a request to another one is not allowed from here.
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
