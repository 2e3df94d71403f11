/**
 * What is in flight is listed in arrays. A Map or a Set moves to a new table every few additions, and until the next full
 * collection its old tables keep what they held: every request, with its response.
 */
export function remove<T>(list: T[], one: T): void {
  const index = list.indexOf(one);
  if (index >= 0) list.splice(index, 1);
}
