/** Values for a record, without extra properties: a field that the contract has and the entity lacks does not compile. */
export function exactly<Target extends object>() {
  return <Value extends Target>(value: Value & { [Extra in Exclude<keyof Value, keyof Target>]: never }): Value =>
    value;
}
