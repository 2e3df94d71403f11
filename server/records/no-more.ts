/** Values for a record, and no more: a field that the contract has and the entity lacks does not compile. */
export function noMore<Target extends object>() {
  return <Value extends Target>(value: Value & { [Extra in Exclude<keyof Value, keyof Target>]: never }): Value =>
    value;
}
