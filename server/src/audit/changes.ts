/** Longer values are cut: the log says what changed, and does not archive texts. */
const longest = 300

/** The fields that differ, each with its old and its new value, for the details of an audit entry. */
export function changesBetween<Item extends object>(
  before: Item,
  after: Item,
  fields: readonly (keyof Item & string)[],
): Record<string, { from: unknown; to: unknown }> {
  return Object.fromEntries(
    fields
      .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
      .map((field) => [field, { from: shortened(before[field]), to: shortened(after[field]) }]),
  )
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > longest ? `${value.slice(0, longest)}…` : value
  if (value === undefined) return null
  const text = JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : value
}
