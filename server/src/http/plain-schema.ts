/** A schema without our own keywords: `x-message`, the validation message, becomes the description; `x-name` is left out. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      if (key === 'x-name') return []
      if (key === 'x-message') return [['description', sentence(item)]]
      // A string is the name of an OpenAPI component; otherwise it is a property called title.
      return key === 'title' && typeof item === 'string' ? [] : [[key, plain(item)]]
    }),
  )
}

const sentence = (message: string) => message.charAt(0).toUpperCase() + message.slice(1)
