/** What is wrong with a field, as the service says it after the field's name, for people to read by itself. */
export const sentence = <Text extends string | undefined>(text: Text): Text =>
  (text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`) as Text
