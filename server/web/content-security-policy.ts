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

type Directive = keyof typeof strictest | 'connect-src' | 'font-src';

export function contentSecurityPolicy(opened: Partial<Record<Directive, string>> = {}): string {
  return Object.entries({ ...strictest, ...opened })
    .map((directive) => directive.join(' '))
    .join('; ');
}
