/** A JSON value as YAML, in block style. Every string is quoted as in JSON, which YAML 1.2 reads the same way. */
export function toYaml(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `${JSON.stringify(value)}\n`;
  const isList = Array.isArray(value);
  const entries = Object.entries(Object(value)).filter(([, part]) => part !== undefined);
  if (entries.length === 0) return isList ? '[]\n' : '{}\n';
  return entries
    .map(([key, part]) => {
      const head = isList ? '-' : `${plainKey.test(key) ? key : JSON.stringify(key)}:`;
      const nests = typeof part === 'object' && part !== null && Object.keys(part).length > 0;
      return `${indent}${head}${nests ? `\n${toYaml(part, `${indent}  `)}` : ` ${toYaml(part)}`}`;
    })
    .join('');
}

/** Keys that YAML can only read as strings. */
const plainKey = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z][A-Za-z0-9_-]*$/i;
