/** Values for a record, without extra properties: a field that the contract has and the entity lacks does not compile. */
export function exactly<Target extends object>() {
  return <Given extends Target>(given: Given & { [Extra in Exclude<keyof Given, keyof Target>]: never }): Given =>
    given;
}
