/** Values for a record, with nothing that the record does not have: a field that is promised and not stored does not compile. */
export function exactly<Target extends object>() {
  return <Given extends Target>(given: Given & { [Extra in Exclude<keyof Given, keyof Target>]: never }): Given =>
    given;
}
