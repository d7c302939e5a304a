import requirements from './requirements.json' with { type: 'json' }

/** One id per requirement. A test that cites an id that does not exist does not compile. */
export type RequirementId = keyof typeof requirements
