/** The same 26 characters in every example id, so that samples can be told from real data. */
const exampleCharacters = '01k9b3n5q7s9v1x3z5a7c9e1g3'

/** An id as examples show it: `iss_01k9b3n5q7s9v1x3z5a7c9e1g3`. */
export const exampleId = (prefix: string) => `${prefix}_${exampleCharacters}`

/** For a second item of the same kind. */
export const exampleOtherId = (prefix: string) => exampleId(prefix).replace(/.$/, '4')

/** Finds example ids in a text, with their prefix. */
export const exampleIds = new RegExp(`\\b([a-z]+)_${exampleCharacters}\\b`, 'g')

export const exampleTime = '2026-03-02T09:00:00.000Z'

/** A description, or a description and an example where none follows from the schema. */
export type FieldWords = string | readonly [description: string, example: unknown]

/** By field: its path in the schema without positions of lists, such as `plan.content`. */
export type SectionWords = Readonly<Record<string, FieldWords>>
