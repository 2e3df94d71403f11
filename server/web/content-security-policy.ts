/** The Content-Security-Policy of a page: everything is `'self'` or `'none'`, except for what it relaxes or omits. */

const strictest = {
  'default-src': "'none'",
  'style-src': "'self'",
  'script-src': "'self'",
  'img-src': "'self'",
  'form-action': "'none'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
};

type Opened = Partial<Record<keyof typeof strictest | 'connect-src', string | undefined>>;

export function contentSecurityPolicy(opened: Opened): string {
  return Object.entries({ ...strictest, ...opened })
    .flatMap(([name, value]) => (value === undefined ? [] : `${name} ${value}`))
    .join('; ');
}
