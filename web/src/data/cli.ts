/** A command of `baton`, from the package that this instance serves: the name `baton` in the registry is another's. */
export const cliCommand = (command: string) => `npx ${location.origin}/packages/cli.tgz ${command}`
