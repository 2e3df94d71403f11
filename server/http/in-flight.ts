/**
 * Requests in flight are listed in arrays. A Map or a Set moves to a new table every few additions, and its old tables keep
 * what they held, every request with its response, until the next full GC.
 */
export function remove<T>(list: T[], one: T): void {
  const index = list.indexOf(one);
  if (index >= 0) list.splice(index, 1);
}
