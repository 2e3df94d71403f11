/** Guesses what columns mean by their names in five languages. Guesses are proposed to the user, never assumed. */
import { importKinds } from '../entities/upload.ts';
import type { ImportChoices, ImportKind, RememberedChoices } from '../entities/upload.ts';
import { withoutUndefined } from '../records/merge-patch.ts';
import { chosenFor } from './columns.ts';
import { isEmpty, isUnnamed, metadataProblem } from './fields.ts';
import { kinds } from './import-file.ts';
import type { Inspection } from './inspect.ts';
import { isJson } from './inspect.ts';
import { fieldAliases } from './field-aliases.ts';
import { presetFor } from './presets/presets.ts';
import { storedId } from '../records/public-id.ts';
import { reportWidth } from './report.ts';
import { maximumColumns } from './source.ts';

/** Prefixes that other tools add: `Person - Label` in Pipedrive, `Business City` in Outlook. */
const prefix =
  /^(?:(?:person|organization|product) - |(?:business|billing|mailing) (?=street|city|state|zip|postal|country|phone))/i;

type Sampled = Pick<Inspection['columns'][number], 'name' | 'samples'>;

/** No field has a longer name, and a run of combining marks takes quadratic time to normalize. */
const longest = 200;

const fold = (name: string) =>
  name
    .slice(0, longest)
    .replace(prefix, '')
    .normalize('NFD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z0-9]/g, '');

/** `isCertain`: every column has the name of a field, was mapped for an earlier file, or belongs to a known export. */
export function proposeChoices(
  { format, columns }: Pick<Inspection, 'format' | 'columns'>,
  kind: ImportKind,
  remembered: RememberedChoices,
): { choices: ImportChoices; isCertain: boolean } {
  const all = columns.filter((column) => !isEmpty(column));
  const table = all.slice(reportWidth(all.map(({ name }) => name)));
  const header = table.map(({ name }) => name);
  const isDocument = header.length === 1 && header[0] === 'row' && header.length < all.length;
  if (isJson({ format }) || isDocument || presetFor(kind, header)) return { choices: {}, isCertain: true };
  const own = table.filter((column) => fieldsOf(column, kind).includes(column.name));
  const taken = new Set(own.map(({ name }) => name));
  const asked = table.filter((column) => !own.includes(column) && metadataProblem(column.name) !== undefined);
  const { match, type, columns: last = [] } = remembered;
  const isLikeLast = asked.every(({ name }) => last.includes(name));
  const map: Record<string, string> = {};
  let isCertain = true;
  // Address books export all their columns, most of them without values.
  for (const column of asked.toSorted((one, other) => emptiness(one) - emptiness(other))) {
    const { name } = column;
    // `column 2` of a different file is a different column.
    const known = isUnnamed(name) && !isLikeLast ? undefined : chosenFor(remembered, name);
    const field = known ?? fieldsNamed(column, kind).find((one) => !taken.has(one)) ?? '';
    map[name] = known !== undefined && taken.has(field) ? '' : field;
    if (field !== '') taken.add(field);
    isCertain &&= known !== undefined;
  }
  if (asked.length === 0) return { choices: {}, isCertain };
  if (isLikeLast && asked.length === last.length) return { choices: withoutUndefined({ map, match, type }), isCertain };
  return { choices: { map }, isCertain: isCertain && (match ?? 'externalId') === 'externalId' && !type };
}

const emptiness = ({ samples }: Sampled) => (samples.length === 0 ? 1 : 0);

/** A kind whose fields fit more of the columns than those of the given kind, if there is one. */
export function likelierKind(inspection: Pick<Inspection, 'format' | 'columns'>, kind: ImportKind) {
  const own = fitting(inspection, kind);
  return importKinds.find((one) => fitting(inspection, one) > own);
}

/** Whether the first values fit more fields than the header does: a title or groups of columns are above the names. */
export function isHeaderBelow({ format, columns }: Pick<Inspection, 'format' | 'columns'>, kind: ImportKind): boolean {
  // A title is one column, whatever separates the names.
  const first = columns.flatMap(({ samples: [text = ''] }) => text.split(/[,;\t]/));
  const below = first
    .slice(0, maximumColumns)
    .map((name) => ({ name, samples: [name], numbers: {}, dates: {}, hasNoZone: false }));
  return fitting({ format, columns: below }, kind) > fitting({ format, columns }, kind);
}

/** How many columns fit a field: more than any other kind's if the file is a known export of this kind. */
function fitting(inspection: Pick<Inspection, 'format' | 'columns'>, kind: ImportKind): number {
  const header = inspection.columns.map(({ name }) => name);
  if (presetFor(kind, header)) return Number.POSITIVE_INFINITY;
  const { map } = proposeChoices(inspection, kind, {}).choices;
  const fits = (name: string) => map?.[name] !== '' && (map?.[name] ?? kinds[kind].columns.includes(name));
  return inspection.columns.filter(({ name }) => fits(name)).length;
}

/** The fields that a column can fill: another system's id is an externalId, not an id. */
function fieldsOf({ samples }: Sampled, kind: ImportKind): readonly string[] {
  const { columns, id } = kinds[kind];
  const isForeign = samples.length > 0 && samples.every((text) => storedId(id, text) === undefined);
  return isForeign ? columns.filter((field) => field !== 'id') : columns;
}

type Names = { alike: readonly string[]; aliases: readonly string[] };

const namesOfFields = new Map<string, Names>();

/** The folded names of columns for a field, which a file with many columns asks for again and again. */
function namesOf(field: string, kind: ImportKind): Names {
  const id = `${kind}.${field}`;
  const known = namesOfFields.get(id);
  if (known) return known;
  const aliases = [fieldAliases[field], fieldAliases[id]].join(' ').split(' ');
  const names = { alike: [fold(field), fold(field.replace(/^address\./, ''))], aliases };
  namesOfFields.set(id, names);
  return names;
}

function fieldsNamed(column: Sampled, kind: ImportKind): string[] {
  const folded = fold(column.name);
  const fields = fieldsOf(column, kind);
  const named = folded === '' ? [] : fields.filter((field) => namesOf(field, kind).aliases.includes(folded));
  const alike = fields.filter((field) => namesOf(field, kind).alike.includes(folded));
  // An article number is the externalId, unless another column already is.
  return [...alike, ...named.toSorted((left, right) => Number(right === 'externalId') - Number(left === 'externalId'))];
}
