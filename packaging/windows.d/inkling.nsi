; The installer: per user, without administrator rights. packaging/windows fills in the placeholders.
Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
Name "@TITLE@"
OutFile "@OUTPUT@"
InstallDir "$LOCALAPPDATA\Programs\@TITLE@"
InstallDirRegKey HKCU "Software\@TITLE@" "Folder"
RequestExecutionLevel user
ManifestDPIAware true
VIProductVersion "@VERSION@.0"
VIAddVersionKey "ProductName" "@TITLE@"
VIAddVersionKey "FileDescription" "@TITLE@ installer"
VIAddVersionKey "FileVersion" "@VERSION@"
VIAddVersionKey "LegalCopyright" "@LICENSE@"

!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "LogicLib.nsh"
!include "StrFunc.nsh"
${StrStr}
${UnStrRep}
!define MUI_ICON "@ICON@"
!define MUI_UNICON "@ICON@"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\inkling.exe"
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\@TITLE@"
!define CLASSES "Software\Classes"

Section
  SetShellVarContext current
  SetOutPath "$INSTDIR"
  File "@FOLDER@/inkling.exe"
  File "@FOLDER@/inkling.com"
  File "@FOLDER@/README.md"
  File "@FOLDER@/LICENSE-MIT"
  File "@FOLDER@/LICENSE-APACHE"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortCut "$SMPROGRAMS\@TITLE@.lnk" "$INSTDIR\inkling.exe" "" "$INSTDIR\inkling.exe" 0 SW_SHOWNORMAL "" "@DESCRIPTION@"

  ; Offered under "Open with", and opened by a double click where no other program has claimed the type.
  WriteRegStr HKCU "${CLASSES}\@TITLE@.Model" "" "Model weights"
  WriteRegStr HKCU "${CLASSES}\@TITLE@.Model\DefaultIcon" "" "$INSTDIR\inkling.exe,0"
  WriteRegStr HKCU "${CLASSES}\@TITLE@.Model\shell\open\command" "" '"$INSTDIR\inkling.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\@TITLE@.Ink" "" "Ink drawing"
  WriteRegStr HKCU "${CLASSES}\@TITLE@.Ink\DefaultIcon" "" "$INSTDIR\inkling.exe,0"
  WriteRegStr HKCU "${CLASSES}\@TITLE@.Ink\shell\open\command" "" '"$INSTDIR\inkling.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\.safetensors\OpenWithProgids" "@TITLE@.Model" ""
  WriteRegStr HKCU "${CLASSES}\.ink\OpenWithProgids" "@TITLE@.Ink" ""
  WriteRegStr HKCU "${CLASSES}\.json\OpenWithProgids" "@TITLE@.Ink" ""

  ; The sender shown on notifications.
  WriteRegStr HKCU "${CLASSES}\AppUserModelId\@IDENTIFIER@" "DisplayName" "@TITLE@"
  WriteRegStr HKCU "${CLASSES}\AppUserModelId\@IDENTIFIER@" "IconUri" "$INSTDIR\inkling.exe"

  ; For `inkling` in a terminal. A PATH longer than the strings of NSIS cannot be read and is left unchanged.
  ClearErrors
  ReadRegStr $0 HKCU "Environment" "Path"
  ${Unless} ${Errors}
    ${StrStr} $1 "$0;" "$INSTDIR;"
    StrLen $2 "$0;$INSTDIR"
    ${If} $1 == ""
    ${AndIf} $2 < ${NSIS_MAX_STRLEN}
      WriteRegExpandStr HKCU "Environment" "Path" "$0;$INSTDIR"
      SendMessage ${HWND_BROADCAST} ${WM_SETTINGCHANGE} 0 "STR:Environment" /TIMEOUT=2000
    ${EndIf}
  ${EndUnless}

  WriteRegStr HKCU "Software\@TITLE@" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "@TITLE@"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "@VERSION@"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\inkling.exe"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "@PUBLISHER@"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
  ; Tells Explorer that file types have changed.
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

; Runs and settings stay: they belong to the user.
Section "Uninstall"
  SetShellVarContext current
  Delete "$INSTDIR\inkling.exe"
  Delete "$INSTDIR\inkling.com"
  Delete "$INSTDIR\README.md"
  Delete "$INSTDIR\LICENSE-MIT"
  Delete "$INSTDIR\LICENSE-APACHE"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\@TITLE@.lnk"
  DeleteRegKey HKCU "${CLASSES}\@TITLE@.Model"
  DeleteRegKey HKCU "${CLASSES}\@TITLE@.Ink"
  DeleteRegKey HKCU "${CLASSES}\AppUserModelId\@IDENTIFIER@"
  DeleteRegValue HKCU "${CLASSES}\.safetensors\OpenWithProgids" "@TITLE@.Model"
  DeleteRegValue HKCU "${CLASSES}\.ink\OpenWithProgids" "@TITLE@.Ink"
  DeleteRegValue HKCU "${CLASSES}\.json\OpenWithProgids" "@TITLE@.Ink"
  ClearErrors
  ReadRegStr $0 HKCU "Environment" "Path"
  ${Unless} ${Errors}
    ${UnStrRep} $1 "$0" ";$INSTDIR" ""
    ${If} $1 != $0
      WriteRegExpandStr HKCU "Environment" "Path" "$1"
      SendMessage ${HWND_BROADCAST} ${WM_SETTINGCHANGE} 0 "STR:Environment" /TIMEOUT=2000
    ${EndIf}
  ${EndUnless}
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\@TITLE@"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd
