import { existsSync } from 'node:fs';

/** It is too large for a dependency. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);
export const withoutChromium = chromiumPath ? undefined : 'there is no Chromium (apt-get install chromium)';
