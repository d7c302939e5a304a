/** "1 file", "1,200 files". */
export const counted = (count: number, noun: string) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** "4.50 USD". Amounts below a hundredth have more digits. */
export const costText = (micros: number, currency: string) =>
  `${(micros / 1e6).toLocaleString('en', {
    minimumFractionDigits: 2,
    maximumFractionDigits: micros < 10_000 ? 6 : 2,
  })} ${currency}`

/** Millionths for an amount such as "4.5"; null if it is none. */
export function microsOf(text: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,9})(?:[.,](\d{1,6}))?$/.exec(text.trim()) ?? []
  return whole === undefined ? null : Number(whole + decimals.padEnd(6, '0'))
}

/** The amount as it is typed: "4.5". */
export const amountOf = (micros: number) => String(micros / 1e6)
