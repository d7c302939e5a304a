/** Turns a field error of the API, such as "must be a string", into a sentence. */
export const sentence = <Text extends string | undefined>(text: Text): Text =>
  (text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`) as Text
