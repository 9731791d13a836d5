import fc from 'fast-check';

// A mutant that changes nothing runs every test: a property may then not take seconds.
fc.configureGlobal({ interruptAfterTimeLimit: 300 });
