// The pages that links and commands lead to, in one chunk: each separate one costs the first screen some bytes.
export { CliLoginScreen } from './cli-login-screen.tsx'
export { ForgotPasswordScreen } from './forgot-password-screen.tsx'
export { ResetPasswordScreen } from './reset-password-screen.tsx'
export { UndoEmailScreen } from './undo-email-screen.tsx'
export { VerifyEmailScreen } from './verify-email-screen.tsx'
