import { refusedUploadsOf } from './refused-uploads.js';

refusedUploadsOf(2);
