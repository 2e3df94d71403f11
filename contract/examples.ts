/** Values that several examples of the documentation share. */

/** A placeholder for the URL of the service; a published document has the real URL instead. */
export const exampleUrl = 'https://api.example.com';
export const exampleCursor = 'eyJzIjoiLWNyZWF0ZWRBdCJ9';
/** The same 26 characters under each prefix. */
export const exampleId = (prefix: string): string => `${prefix}_01jzy3v1k8e2tb6qk3x5w9r7md`;
export const exampleRequestId = exampleId('req');
