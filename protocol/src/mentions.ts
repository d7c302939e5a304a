/** The id of a user or agent. */
export const userIdPattern = /^usr_[0-9a-hjkmnp-tv-z]{26}$/

/** `@[Display Name](usr_…)` in a text, with the name and the id as groups. A name may contain brackets. */
export const mentionPattern = /@\[([^\n]{1,200}?)\]\((usr_[0-9a-hjkmnp-tv-z]{26})\)/g
