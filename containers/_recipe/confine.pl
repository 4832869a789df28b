# Gives up what no build needs, then becomes the program it is given: Docker's builder has no options for it, so it is
# done here, before the first maintainer script or build file runs. An engine's options (harness/images/limits.py) do the
# same from outside where it has them.
#   perl confine.pl PROGRAM ARGUMENT...
use strict;
use warnings;

# chown, dac_override, fowner, fsetid: what dpkg, pip and tar need to lay files out
my %needed = map { $_ => 1 } 0, 1, 3, 4;
my ($prctl, $capbset_drop, $set_no_new_privs) = (157, 24, 38);    # x86-64
my $EINVAL = 22;

for my $capability (0 .. 63) {
    next if $needed{$capability};
    next if syscall($prctl, $capbset_drop, $capability, 0, 0, 0) == 0;
    last if $! == $EINVAL;    # beyond the last one that this kernel knows
    die "capability $capability can't be given up: $!\n";
}
syscall($prctl, $set_no_new_privs, 1, 0, 0, 0) == 0 or die "no_new_privs can't be set: $!\n";
exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";
