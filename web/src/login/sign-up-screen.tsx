import { Page } from '../ui/layout.tsx'

export const SignUpScreen = () => <Page title="Sign up">{null}</Page>
