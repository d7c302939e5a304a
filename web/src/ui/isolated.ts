const bidiControls = /\p{Bidi_Control}/gu
/** Hebrew, Arabic and other scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u

/**
 * A name for a text that is a string, such as a toast, where `<bdi>` is not possible: it cannot change the direction of
 * the words around it. Names without right-to-left letters stay as they are.
 */
export function isolated(name: string | undefined): string {
  const plain = (name ?? '').replace(bidiControls, '')
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain
}
