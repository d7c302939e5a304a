/** `![name](fil_…)` shows a file in a text, `[name](fil_…)` links it. */
const reference = /\]\((fil_[0-9a-hjkmnp-tv-z]{26})\)/g

/** The ids of the files that a text refers to, each once. */
export const fileIdsIn = (text: string): string[] =>
  text.includes('](fil_') ? [...new Set([...text.matchAll(reference)].map((match) => match[1] as string))] : []

export const fileIdPattern = /^fil_[0-9a-hjkmnp-tv-z]{26}$/
