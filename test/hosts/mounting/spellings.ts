/** The operation's path in the spellings that clients, proxies and attackers send. */

/** The operation at `<mount>/plants`. */
export const exact = (mount: string): string[] => [
  `${mount}/plants`,
  `${mount}/plants?`,
  `${mount}/plants?x=//y&z=/../plants`,
];

/** The same in the form that is for proxies (RFC 9112 §3.2.2), which some hosts and apps do not take. */
export const absolute = (mount: string): string[] => [
  `http://localhost${mount}/plants`,
  `HTTP://LOCALHOST:80${mount}/plants?x`,
];

/** None of them is the operation. */
export const others = (mount: string): string[] => [
  // Slashes, doubled, encoded and at the end.
  ...[`/${mount}/plants`, `${mount}//plants`, `${mount}///plants`, `/${mount}//plants`, `${mount}/plants/`],
  ...[
    `${mount}/plants//`,
    `${mount}%2fplants`,
    `${mount}/%2fplants`,
    `${mount}/plants%2f`,
    `/%2f${mount}/plants`,
  ],
  // Dot segments.
  ...[`${mount}/./plants`, `${mount}/x/../plants`, `/.${mount}/plants`, `/x/..${mount}/plants`],
  ...[`${mount}/plants/.`, `${mount}/plants/..`, `${mount}/%2e/plants`, `${mount}/x/%2e%2e/plants`],
  // Letter case of the operation's own segment.
  ...[`${mount}/PLANTS`, `${mount}/Plants`, `${mount.toUpperCase()}/PLANTS`],
  // Parameters of a segment, and fragments.
  ...[`${mount}/plants;`, `${mount}/plants;x=1`, `${mount};x/plants`, `/;${mount}/plants`],
  ...[`${mount}/plants#x`, `${mount}/plants#`, `${mount}#/plants`, `${mount}/plants?x#y`],
  // Escapes.
  ...[`${mount}/%70lants`, `${mount}/plant%73`, `${mount}/plants%00`, `${mount}/plants%20`],
  ...[`${mount}/plants%3F`, `${mount}/plants%23`, `${mount}/%2570lants`, `${mount}/plants%`],
  // Hosts that readers take differently, and targets that are none.
  ...[`http://a;b${mount}/plants`, `http://a:b${mount}/plants`, `http://u@localhost${mount}/plants`],
  ...[`http://${mount}/plants`, `javascript://x${mount}/plants`, `http://a%2f${mount}/plants`],
  ...[
    `http://localhost/${mount}/plants`,
    `http://localhost${mount}//plants`,
    `http://localhost${mount}/plants#x`,
  ],
  ...[
    `http://localhost${mount}/x/../plants`,
    `http://localhost${mount}\\plants`,
    `http://a\\x${mount}/plants`,
  ],
  // Backslashes and controls, of which Node's parser lets some pass.
  ...[`${mount}\\plants`, `${mount}/\\plants`, `${mount}/plants\\`, `\\${mount}/plants`],
  ...[`${mount}/plants\0`, `${mount}\0/plants`, `${mount}/plants\t`, `${mount}/pl\u00e4nts`],
  // Neighbours.
  ...[
    `${mount}/plants.`,
    `${mount}/plants.json`,
    `${mount}/plantsx`,
    `${mount}x/plants`,
    `${mount}/plants/x`,
  ],
  ...[`${mount}/plants/plants`, `${mount}${mount || '/x'}/plants`, '*', `${mount.slice(1)}plants`],
];
