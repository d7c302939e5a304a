/** Returns the directory that contains the packages' node_modules. */
export function installApart(title: string, folder: string): Promise<string>
