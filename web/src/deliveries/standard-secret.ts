/** A webhook secret as libraries of Standard Webhooks take it, like standardSecret() of the SDK. Secrets are ASCII. */
export const standardSecret = (secret: string) => `whsec_${btoa(secret)}`
