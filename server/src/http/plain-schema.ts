/** A schema for others: keywords of ours mean nothing to them; what a refusal would say is told beforehand. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      if (key === 'x-message') return [['description', sentence(item)]]
      // Names a component of the OpenAPI document; a field may be called so too.
      return key === 'title' && typeof item === 'string' ? [] : [[key, plain(item)]]
    }),
  )
}

const sentence = (message: string) => message.charAt(0).toUpperCase() + message.slice(1)
