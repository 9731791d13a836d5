/**
 * Returns the files of an app that a page of `examples/stacks/` shows, by their paths: each block of code below a line that ends
 * with its path and a colon, as in "The server, in `server.js`:".
 */
export function filesOfPage(page: string): Readonly<Record<string, string>> {
  const blocks = page.matchAll(/`([^`\n]+)`:\n+```\w*\n([\s\S]*?)^```$/gm);
  return Object.fromEntries([...blocks].map(([, path, text]) => [path!, text!]));
}
