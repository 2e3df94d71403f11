/** Reads the parts of an Excel workbook, which are XML in UTF-8. Throws an Error if one is damaged. */
import { SaxesParser } from 'saxes';

type Element = { name: string; attributes: Readonly<Record<string, string>> };
/** `close` gets the text of an element that contains no others. */
type Handlers = { open: (element: Element) => void; close?: (name: string, text: string) => void };

const pieceBytes = 64 * 1024;

/** Names come without prefixes. */
export function readXml(part: Buffer, { open, close }: Handlers): void {
  const local = (name: string) => name.slice(name.indexOf(':') + 1);
  const parser = new SaxesParser();
  let content = '';
  parser.on('opentag', ({ name, attributes }) => {
    content = '';
    open({ name: local(name), attributes });
  });
  parser.on('closetag', ({ name }) => close?.(local(name), content));
  for (const event of ['text', 'cdata'] as const) parser.on(event, (text) => (content += text));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; at < part.length; at += pieceBytes)
    parser.write(decoder.decode(part.subarray(at, at + pieceBytes), { stream: true }));
  parser.write(decoder.decode()).close();
}

/** The elements with these names, in order. */
export function elementsOf(part: Buffer, ...names: string[]): Element[] {
  const elements: Element[] = [];
  readXml(part, { open: (element) => names.includes(element.name) && elements.push(element) });
  return elements;
}
