/** The Content-Security-Policy of a page: everything is `'self'` or `'none'`, except for what a page opens. */

const strictest = {
  'default-src': "'none'",
  'style-src': "'self'",
  'script-src': "'self'",
  'img-src': "'self'",
  'form-action': "'none'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
};

type Opened = Partial<Record<keyof typeof strictest | 'connect-src', string>>;

export function contentSecurityPolicy(opened: Opened): string {
  return Object.entries({ ...strictest, ...opened })
    .map((directive) => directive.join(' '))
    .join('; ');
}
