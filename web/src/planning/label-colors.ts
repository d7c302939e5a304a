/** Colours that differ clearly from each other in the light and in the dark theme. */
export const labelColors = [
  { name: 'Red', value: '#d73a4a' },
  { name: 'Blue', value: '#1f6feb' },
  { name: 'Purple', value: '#8250df' },
  { name: 'Green', value: '#0e8a16' },
  { name: 'Yellow', value: '#bf8700' },
  { name: 'Cyan', value: '#0891b2' },
  { name: 'Orange', value: '#c2410c' },
  { name: 'Pink', value: '#be185d' },
]

/** A colour for the next label, so that the first eight differ. */
export const nextLabelColor = (labelCount: number) => labelColors[labelCount % labelColors.length]?.value ?? null
